// Communication with the relay: the WebSocket, the HTTP endpoints, and the queue of received frames.
export { Connection, type SendFrame } from './connection.ts'
export {
  baseOf,
  Http,
  readText,
  refusal,
  type TokenSource,
  waitBeforeRetry,
} from './http.ts'
export { Incoming } from './incoming.ts'
export {
  type CallInput,
  type CallReply,
  checkInput,
  RelayRequest,
  readReply,
  requestOf,
} from './relay-request.ts'
