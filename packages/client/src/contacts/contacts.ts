// Contacts: the friend list, the session with each friend, and whether a contact is verified.
export { Friends } from './friends.ts'
export type { SecurityCode } from './security-code.ts'
export { Sessions } from './sessions.ts'
export * as trust from './trust.ts'
