/** Makes a box as high as its text, up to the height the style sheet allows. */
export function grow(box: HTMLTextAreaElement): void {
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}
