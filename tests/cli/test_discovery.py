"""Which files are checked: excludes, `.gitignore`, links, and paths that are named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

BUG = "pass # BUG DEV101\n"


def checked(result) -> list[str]:
    return [line.partition(":")[0] for line in result.found]


def test_python_files_and_stubs_in_a_directory(devlint, files):
    files({"a.py": BUG, "b.pyi": BUG, "c.txt": BUG, "d.pyc": BUG, "sub/e.py": BUG, "script": BUG})
    assert checked(devlint(".")) == ["a.py", "b.pyi", "sub/e.py"]


def test_a_file_that_is_named_may_have_any_suffix(devlint, files):
    files({"script": BUG})
    assert checked(devlint("script")) == ["script"]


def test_the_usual_directories_are_left_out(devlint, files):
    files({f"{name}/a.py": BUG for name in ("venv", ".venv", "pkg/node_modules", "dist", ".git", "pkg")})
    assert checked(devlint(".")) == ["pkg/a.py"]


def test_copies_that_setuptools_builds_are_left_out(devlint, files):
    files(
        {
            f"{name}/a.py": BUG
            for name in ("build/lib/pkg", "sub/build/lib.linux-x86_64-cpython-311/pkg", "build", "lib")
        }
    )
    assert checked(devlint(".")) == ["build/a.py", "lib/a.py"]


def test_what_is_named_is_checked_though_it_is_excluded(devlint, files):
    files({"venv/lib/a.py": BUG, "venv/lib/venv/b.py": BUG, "venv/dist/c.py": BUG})
    assert checked(devlint("venv/lib/a.py")) == ["venv/lib/a.py"]
    assert checked(devlint("venv/lib")) == ["venv/lib/a.py", "venv/lib/venv/b.py"]
    assert checked(devlint("venv")) == ["venv/lib/a.py", "venv/lib/venv/b.py"]


def test_force_exclude_leaves_out_what_is_named(devlint, files):
    files({"venv/a.py": BUG, "b.py": BUG})
    result = devlint("venv/a.py", "venv", "b.py", "--force-exclude")
    assert checked(result) == ["b.py"]


def test_exclude_stands_instead_of_the_usual_and_extend_exclude_beside_it(devlint, files):
    files({"a/x.py": BUG, "b/x.py": BUG, "venv/x.py": BUG, "a/b/x_test.py": BUG})
    assert checked(devlint(".", "--exclude", "a")) == ["b/x.py", "venv/x.py"]
    assert checked(devlint(".", "--extend-exclude", "/b,*_test.py")) == ["a/x.py"]


def test_patterns_of_a_configuration_file_start_where_it_lies(devlint, files):
    files(
        {
            "pkg/pyproject.toml": '[tool.devlint]\nexclude = ["/gen", "!keep.py"]\n',
            "pkg/gen/a.py": BUG,
            "pkg/src/gen/b.py": BUG,
        }
    )
    assert checked(devlint("pkg")) == ["pkg/src/gen/b.py"]


def test_gitignore_is_honoured_unless_it_shall_not_be(devlint, files):
    files({".gitignore": "out/\n", "out/a.py": BUG, "b.py": BUG})
    assert checked(devlint(".")) == ["b.py"]
    assert checked(devlint(".", "--no-respect-gitignore")) == ["b.py", "out/a.py"]
    assert checked(devlint("out")) == ["out/a.py"]


def test_the_same_files_as_git(devlint, files, tmp_path):
    layout = {
        ".gitignore": "*.gen.py\n!keep.gen.py\n/top.py\nout/\n# comment\n\nspace\\ \n**/deep/*.py\n",
        "sub/.gitignore": "!b.gen.py\nlocal.py\n",
        "sub/deep/.gitignore": "!wanted.py\n",
        "sub/all/.gitignore": "*\n",
    }
    names = ("a.gen.py", "keep.gen.py", "top.py", "out/x.py", "c.py", "sub/b.gen.py", "sub/top.py", "sub/local.py")
    names += ("sub/deep/x.py", "sub/deep/wanted.py", "sub/all/y.py", "sub/out/z.py", "sub/d/local.py", "secret.py")
    files({**layout, **dict.fromkeys(names, BUG)})
    subprocess.run(["git", "init", "-q"], check=True)
    Path(".git/info").mkdir(exist_ok=True)
    Path(".git/info/exclude").write_text("secret.py\n")
    listed = subprocess.run(
        ["git", "-c", "core.excludesFile=", "ls-files", "-o", "--exclude-standard", "*.py"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert sorted(checked(devlint("."))) == sorted(listed.stdout.split())
    assert sorted(checked(devlint("sub"))) == sorted(name for name in listed.stdout.split() if name.startswith("sub/"))


def test_links_make_no_loop_and_no_double(devlint, files, tmp_path):
    files({"pkg/a.py": BUG})
    (tmp_path / "pkg" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "0_link.py").symlink_to(tmp_path / "pkg" / "a.py")
    (tmp_path / "dangling.py").symlink_to(tmp_path / "nowhere.py")
    assert checked(devlint(".")) == ["pkg/a.py"]


def test_a_link_that_is_named_is_followed(devlint, files, tmp_path):
    files({"pkg/a.py": BUG})
    (tmp_path / "link").symlink_to(tmp_path / "pkg", target_is_directory=True)
    assert checked(devlint("link")) == ["link/a.py"]


def test_a_directory_that_cannot_be_read_is_named(devlint, files, monkeypatch):
    files({"closed/a.py": BUG, "b.py": BUG})
    import os

    scandir = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = devlint(".")
    assert checked(result) == ["b.py"]
    assert result.status == 2
    assert result.err == f"error: {Path('closed').absolute()}: Permission denied\n"


def test_names_that_are_no_text(devlint, files):
    try:
        Path("caf\udce9.py").write_text(BUG)
    except (OSError, UnicodeError):
        pytest.skip("the file system takes no such name")
    result = devlint(".", "--output-format", "concise,json:out.json")
    assert result.out == "caf\\udce9.py:1:1: DEV101 DEV101 here (mixed-device-op)\n"
