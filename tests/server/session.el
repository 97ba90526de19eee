;;; A session in Emacs: diagnostics, hover, hints and an applied fix, written down as JSON.  -*- lexical-binding: t -*-

;; DEVLINT_CONFIGURATION is the file to load, DEVLINT_FILE what is opened, DEVLINT_REPORT where the report goes.

(setq native-comp-deferred-compilation nil
      native-comp-jit-compilation nil)
(package-initialize)
(require 'cl-lib)
(require 'eglot)
(require 'json)
(setq eglot-connect-timeout 60
      eglot-sync-connect 60)

(defvar report nil)

(defun write-report ()
  (with-temp-file (getenv "DEVLINT_REPORT")
    (insert (json-encode report))))

(defun wait-for (what holds)
  (let ((patience 600))
    (while (not (funcall holds))
      (when (zerop (cl-decf patience))
        (push (cons 'problem (format "waited in vain for %s" what)) report)
        (write-report)
        (kill-emacs 1))
      (accept-process-output nil 0.1))))

(defun found ()
  (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))

(load (getenv "DEVLINT_CONFIGURATION"))
(find-file (getenv "DEVLINT_FILE"))
(run-hooks 'post-command-hook) ; Eglot begins when the first command is over
(wait-for "a server" #'eglot-current-server)
(wait-for "diagnostics" (lambda () (flymake-start) (found)))
(push (cons 'diagnostics (vconcat (found))) report)
(push (cons 'line (line-number-at-pos (flymake-diagnostic-beg (car (flymake-diagnostics))))) report)

(goto-char (point-min))
(search-forward "data")
(backward-char)
(let ((answer nil))
  (wait-for "a hover"
            (lambda ()
              (eglot-hover-eldoc-function (lambda (text &rest _) (setq answer text)))
              (accept-process-output nil 0.1)
              answer))
  (push (cons 'hover (substring-no-properties answer)) report))

(when (fboundp 'eglot-inlay-hints-mode)
  (let ((shown nil))
    (wait-for "a hint"
              (lambda ()
                (eglot--update-hints-1 (point-min) (point-max))
                (accept-process-output nil 0.1)
                (setq shown (cl-remove-if-not (lambda (one) (overlay-get one 'eglot--inlay-hint))
                                              (overlays-in (point-min) (point-max))))))
    (push (cons 'hints (vconcat (mapcar (lambda (one)
                                          (string-trim (substring-no-properties
                                                        (or (overlay-get one 'before-string)
                                                            (overlay-get one 'after-string)))))
                                        shown)))
          report)))

(search-forward "batch.to")
(let ((completing-read-function
       (lambda (_prompt _choices &optional _predicate _require _initial _history preferred &rest _) preferred))
      (last-nonmenu-event t))
  (eglot-code-actions (point) (point) nil t))
(save-buffer) ; changes are told when Emacs has been idle, or when the file is saved
(wait-for "the finding to go" (lambda () (flymake-start) (null (found))))
(push (cons 'text (buffer-substring-no-properties (point-min) (point-max))) report)
(write-report)
(eglot-shutdown (eglot-current-server))
