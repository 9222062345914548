// How a shortcut is written on the keyboard in front of the person.

const isApple = (platform: string): boolean => /^(?:Mac|iPhone|iPad)/.test(platform);

/** "Alt N", or "⌥N" where the key is called Option. */
export function altShortcut(key: string, platform: string = navigator.platform): string {
  return isApple(platform) ? `⌥${key}` : `Alt ${key}`;
}
