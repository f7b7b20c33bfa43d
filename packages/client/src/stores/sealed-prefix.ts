// How a sealed field is told from a plain one.

/** The prefix of a sealed field. Neither a phrase nor Base64 contains a colon. */
export const SEALED_PREFIX = 'sealed:1:'

/** Whether a field holds a sealed value. */
export function isSealed(field: string): boolean {
  return field.startsWith(SEALED_PREFIX)
}
