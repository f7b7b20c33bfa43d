// The entry for browsers: what an application in a page takes besides the core.
export type { CallInfo, CallsOptions } from './calls/call-info.ts'
export type {
  CallCandidate,
  CallPeer,
  CallPeerOptions,
  CallTrackKind,
  OpenCallPeer,
  SentMedia,
} from './calls/call-peer.ts'
export type { CallRefusal } from './calls/call-signals.ts'
export type { CallEnd, CallState } from './calls/call-states.ts'
export { Calls } from './calls/calls.ts'
export { type WebRtcOptions, webRtc } from './calls/webrtc.ts'
export { solveInWorker, solverIn } from './solve-in-worker.ts'
export { type DeviceKeyOptions, deviceKeyVault } from './stores/device-key-vault.ts'
export { deleteDatabase } from './stores/indexeddb-open.ts'
export { IndexedDbStore } from './stores/indexeddb-store.ts'
export { SharedClient, type SharedClientOptions } from './tabs/shared-client.ts'
