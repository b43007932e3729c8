/**
 * The contrast of texts that axe leaves open, because something lies behind or beside them: measured against the nearest
 * ground that is painted below the text itself. Returns those that are too weak: [{text, ratio, needed, ink, ground, where}].
 */
(selectors) => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const chain = (node) => (node ? [node, ...chain(node.parentElement)] : []);
  const weak = [];
  for (const selector of selectors) {
    const node = document.querySelector(selector);
    if (!node || !node.getClientRects().length) continue;
    const style = getComputedStyle(node);
    const opacity = chain(node).reduce((all, one) => all * Number(getComputedStyle(one).opacity), 1);
    const said = node.textContent.trim();
    // not yet on show, or a sign and no text
    if (!said || opacity < 0.1 || style.visibility === 'hidden' || !/[\p{L}\p{N}]/u.test(said)) continue;
    if (node.closest(':disabled, [aria-disabled=true]')) continue;
    let ground = [255, 255, 255];
    for (const one of chain(node).reverse()) ground = over(rgba(getComputedStyle(one).backgroundColor), ground);
    const ink = rgba(style.color);
    const shown = over([...ink.slice(0, 3), ink[3] * opacity], ground);
    const [a, b] = [light(shown), light(ground)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (ratio < needed) {
      const hex = (rgb) => '#' + rgb.map((c) => Math.round(c).toString(16).padStart(2, '0')).join('');
      weak.push({ text: said.slice(0, 40), ratio: Number(ratio.toFixed(2)), needed, ink: hex(shown), ground: hex(ground), where: node.className || node.id || node.tagName });
    }
  }
  return weak;
}
