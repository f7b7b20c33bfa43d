// What a scanned QR code means. It may contain anything.
import { aliasIn, type Invitation, readInvitation } from '../../session/invitation.ts'

/** A code that the app understands. */
export type Scanned =
  | { readonly kind: 'invitation'; readonly invitation: Invitation }
  | { readonly kind: 'alias'; readonly alias: string }
  | { readonly kind: 'securityCode'; readonly code: string }
  | { readonly kind: 'unknown' }

const SECURITY_CODE = /^sotto:code:([0-9a-f]{60})$/i

/** The text of a QR code with a security code. Capitals and digits make the smallest picture. */
export function securityCodeText(displayCode: string): string {
  return `SOTTO:CODE:${displayCode.replaceAll(' ', '').toUpperCase()}`
}

/** Understands the text of a QR code. */
export function understand(text: string): Scanned {
  const invitation = readInvitation(text)
  if (invitation) return { kind: 'invitation', invitation }
  const code = SECURITY_CODE.exec(text.trim())?.[1]
  if (code !== undefined) return { kind: 'securityCode', code: code.toLowerCase() }
  const alias = aliasIn(text)
  return alias === undefined ? { kind: 'unknown' } : { kind: 'alias', alias }
}
