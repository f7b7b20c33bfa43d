// The package's entry for browsers: the exports that only pages use.

export { solveInWorker, solverIn } from './account/account.ts'
export type {
  CallCandidate,
  CallEnd,
  CallInfo,
  CallPeer,
  CallPeerOptions,
  CallQuality,
  CallRefusal,
  CallState,
  CallStats,
  CallsOptions,
  CallTrackKind,
  OpenCallPeer,
  SentMedia,
} from './calls/calls.ts'
export { CallLog, Calls, QualityMeter, type WebRtcOptions, webRtc } from './calls/calls.ts'
export {
  type DeleteDatabaseOptions,
  type DeviceKeyOptions,
  deleteDatabase,
  deviceKeyVault,
  IndexedDbStore,
} from './stores/stores.ts'
export { SharedClient, type SharedClientOptions } from './tabs/tabs.ts'
