// The account of a device: creates, recovers, logs in, locks and unlocks it.
export {
  type ActiveIdentity,
  accountKeyMismatch,
  activate,
  type CreateIdentityInput,
  checkNickname,
  createIdentity,
  forgetKeys,
  loadIdentity,
  type PreparedIdentity,
  type RecoverIdentityInput,
  recoverIdentity,
} from './identity.ts'
export { type Invite, inviteLink, readInvite } from './invite.ts'
export { Lock } from './lock.ts'
export {
  REGISTRATION_STEPS,
  type RegistrationProgress,
  type RegistrationStep,
  type RegistrationWatch,
} from './registration.ts'
export { registrationMode } from './registration-mode.ts'
export { solveInWorker, solverIn } from './solve-in-worker.ts'
