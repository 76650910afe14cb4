// The page's policy takes only styles with the nonce of this answer. Libraries that make style
// elements themselves (the terminal, overlays that lock the scroll bar) know nothing of it, so
// every style element that a script makes gets it here. Markup that somebody smuggles in does not.

export const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";

export function giveStylesTheNonce(): void {
  const create = document.createElement.bind(document);
  document.createElement = ((tag: string, options?: ElementCreationOptions) => {
    const made = create(tag, options);
    if (made instanceof HTMLStyleElement) made.nonce = nonce;
    return made;
  }) as typeof document.createElement;
}
