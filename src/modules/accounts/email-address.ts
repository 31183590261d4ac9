/**
 * An address in the one form in which it is kept and looked for: a domain of other letters than ASCII's is written as the
 * name system has it (`bücher.example` is `xn--bcher-kva.example`). Case is kept; the database compares without regard to it.
 */
export function normalizeEmail(text: string): string {
  const address = text.trim()
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  if (at < 0 || !/[^\0-\x7f]/.test(domain) || /[\s/?#:%\\[\]]/.test(domain)) return address
  const url = `http://${domain}`
  return URL.canParse(url) ? `${address.slice(0, at)}@${new URL(url).hostname}` : address
}
