// What tests measure on a page that is open in a browser. Each function is called with `return measure.NAME(...)`.
window.measure = (() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();

  /** The red, green, blue (0 to 255) and opacity (0 to 1) of any colour that a style can name. */
  function parts(color) {
    if (!known.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [red, green, blue, opacity] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(color, [red, green, blue, opacity / 255]);
    }
    return known.get(color);
  }

  /** A colour with some opacity before an opaque one. */
  function over([red, green, blue, opacity], ground) {
    return [red, green, blue].map((part, at) => part * opacity + ground[at] * (1 - opacity));
  }

  /** What is behind the text of an element: the backgrounds of all that it stands in, from the outermost on. */
  function ground(element) {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const declared = getComputedStyle(document.documentElement).colorScheme;
    const layers = [];
    for (let one = element; one; one = one.parentElement) layers.unshift(parts(getComputedStyle(one).backgroundColor));
    return layers.reduce((below, layer) => over(layer, below), dark && declared.includes("dark") ? [18, 18, 18] : [255, 255, 255]);
  }

  function luminance(color) {
    const [red, green, blue] = color.map((part) => (part <= 10.31 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }

  function opacity(element) {
    return element ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1;
  }

  /** The elements that show text of their own, each with a sample of it. */
  function* texts() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      const text = walker.currentNode.data.trim();
      const seen = text && element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      if (seen && element.getBoundingClientRect().width > 1) yield [element, text.slice(0, 40)];
    }
  }

  /** The texts that WCAG AA finds too faint: below 4.5, or below 3 if they are large. */
  function faint() {
    const found = new Map();
    let count = 0;
    for (const [element, text] of texts()) {
      count += 1;
      const style = getComputedStyle(element);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      const behind = ground(element);
      const [red, green, blue, own] = parts(element instanceof SVGElement ? style.fill : style.color);
      const ratio = contrast(over([red, green, blue, own * opacity(element)], behind), behind);
      if (ratio < (large ? 3 : 4.5)) found.set(`${element.tagName}.${element.className}`, `${ratio.toFixed(2)}: ${text}`);
    }
    return { count, found: Object.fromEntries(found) };
  }

  /** How far the page is wider than the window, in pixels, and the elements that stick out with nothing to scroll them. */
  function overflow() {
    const root = document.documentElement;
    const scrolled = (one) => one && one !== root && (getComputedStyle(one).overflowX !== "visible" || scrolled(one.parentElement));
    const wide = [...document.body.querySelectorAll("*")].filter(
      (one) => one.checkVisibility() && one.getBoundingClientRect().right > root.clientWidth + 1 && !scrolled(one),
    );
    return { pixels: root.scrollWidth - root.clientWidth, wide: wide.map((one) => one.outerHTML.slice(0, 80)) };
  }

  /** The boxes that scroll sideways and that the keyboard cannot reach. */
  function unreachable() {
    return [...document.body.querySelectorAll("*")]
      .filter((one) => one.checkVisibility() && ["auto", "scroll"].includes(getComputedStyle(one).overflowX))
      .filter((one) => one.scrollWidth > one.clientWidth && one.tabIndex < 0 && !one.querySelector("a[href], button, [tabindex]"))
      .map((one) => one.outerHTML.slice(0, 80));
  }

  /** The outline of the element that has the focus: its width in pixels, and its contrast to what is around it. */
  function focused() {
    const one = document.activeElement;
    const style = getComputedStyle(one);
    const [outline, behind] = [parts(style.outlineColor).slice(0, 3), ground(one.parentElement)];
    const width = style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth);
    return { tag: one.tagName, name: one.value ?? one.textContent.trim(), width, contrast: contrast(outline, behind) };
  }

  /** The words that stand on more than one line, in headings of tables or in other elements. */
  function broken(selector = "th") {
    return [...document.querySelectorAll(selector)].flatMap((one) => {
      const words = one.firstChild instanceof Text ? [...one.firstChild.data.matchAll(/\w+/g)] : [];
      return words.filter((word) => {
        const range = new Range();
        range.setStart(one.firstChild, word.index);
        range.setEnd(one.firstChild, word.index + word[0].length);
        return range.getClientRects().length > 1;
      }).map((word) => word[0]);
    });
  }

  return { broken, faint, focused, overflow, unreachable };
})();
