// The address of a relay, as people type it and as the client takes it.

/** The address of a relay as the client takes it, or undefined if it is no address. */
export function relayUrlOf(typed: string): string | undefined {
  const text = /^https?:\/\//i.test(typed.trim()) ? typed.trim() : `https://${typed.trim()}`
  if (!URL.canParse(text)) return undefined
  const { origin, pathname } = new URL(text)
  return `${origin}${pathname.replace(/\/+$/, '')}`
}
