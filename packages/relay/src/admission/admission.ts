// The public file of admission: who may register.
export { type AdmissionConfig, admissionConfigOf, admissionSettings } from './admission-settings.ts'
export { Difficulty } from './difficulty.ts'
export { type Gate, openGate } from './gate.ts'
export { endInvitesOf, eraseEndedInvites } from './invites.ts'
export { memberInviteRoutes } from './member-invites.ts'
export { type InviteLine, inviteAnswers, inviteCommands, type MadeInvite } from './operator-invites.ts'
