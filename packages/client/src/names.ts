// The names the library's entry gives away besides SottoClient.
export type {
  FileContent,
  ImageContent,
  KeyPair,
  MessageContent,
  OutgoingContent,
  TextContent,
  VoiceContent,
} from '@sotto/crypto'
export { normalizeMnemonic } from '@sotto/crypto'
export type {
  ChannelInfo,
  ChannelPost,
  ChannelTradeOrder,
  FriendProfile,
  OrderStatus,
  OwnOrder,
  PurchaseOrder,
  UserLookup,
  VanityItem,
} from '@sotto/protocol'
export { Channels, type NewChannel, type PostRange } from './channels.ts'
export { ClientError, type ClientErrorCode } from './client-error.ts'
export { contentOf } from './content.ts'
export type { Conversation } from './conversations.ts'
export { generateMnemonic, validateMnemonic } from './cryptography.ts'
export type { AnyClient } from './door.ts'
export type { EventStreamOptions } from './event-stream.ts'
export type {
  ClientEventHandler,
  ClientEventName,
  ClientEvents,
  LockState,
  NetworkState,
  SecurityViolationEvent,
} from './events.ts'
export type { CreateIdentityInput, RecoverIdentityInput } from './identity.ts'
export type { DownloadedMedia } from './media/download.ts'
export { type ImageOptions, scaleImage } from './media/image.ts'
export {
  type DownloadOptions,
  Media,
  type SendFileOptions,
  type SendImageOptions,
  type SendMediaOptions,
} from './media/media.ts'
export type { MediaSource } from './media/pieces.ts'
export { intoBlob, type Spool } from './media/spool.ts'
export type { TransferOptions, TransferProgress } from './media/transfer.ts'
export type { UploadedMedia } from './media/upload.ts'
export type { ClientOptions, Clock, FetchLike, SocketClass, SocketLike, WakeSource } from './options.ts'
export type { SendOptions } from './outbox.ts'
export type { ProofOfWork, ProofOfWorkSolver } from './proof-of-work.ts'
export { Push, type PushRegistration, type PushSubscriptionLike } from './push/push.ts'
export {
  REGISTRATION_STEPS,
  type RegistrationProgress,
  type RegistrationStep,
  type RegistrationWatch,
} from './registration.ts'
export { keyVault } from './stores/key-vault.ts'
export { MemoryStore } from './stores/memory-store.ts'
export type {
  MessageStatus,
  OfflineMessage,
  OutboxIntent,
  PublicIdentity,
  SessionRecord,
  StoredIdentity,
  StoredMessage,
  TrustState,
  VaultRecord,
} from './stores/records.ts'
export type { ClientStore, MessageRange } from './stores/store.ts'
export type { Vault } from './stores/vault.ts'
export type { SecurityCode } from './trust.ts'
export { VanityShop } from './vanity.ts'
