// The exports of the library's entry besides SottoClient.
export type {
  FileContent,
  ImageContent,
  ImageDetails,
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
  MadeInvite,
  OrderMethod,
  OrderPayment,
  OrderStatus,
  OwnInvite,
  OwnInvites,
  OwnOrder,
  PurchaseOrder,
  RegistrationMode,
  ReserveOrder,
  UserLookup,
  VanityItem,
} from '@sotto/protocol'
export type { CreateIdentityInput, RecoverIdentityInput } from './account/account.ts'
export {
  type Invite,
  inviteLink,
  REGISTRATION_STEPS,
  type RegistrationProgress,
  type RegistrationStep,
  type RegistrationWatch,
  readInvite,
  registrationMode,
} from './account/account.ts'
export { AppData } from './app-data/app-data.ts'
export { Channels, type NewChannel, type PostRange } from './channels/channels.ts'
export { ClientError, type ClientErrorCode } from './client-error.ts'
export type { Account, ClientOf, LogOutOptions } from './client-types.ts'
export type { SecurityCode } from './contacts/contacts.ts'
export { Edits } from './edits/edits.ts'
export type {
  Change,
  ClientEventHandler,
  ClientEventName,
  ClientEvents,
  EventStreamOptions,
  LockState,
  NetworkState,
  SecrecyEvent,
  SecurityViolationEvent,
} from './events/events.ts'
export { Invites } from './invites/invites.ts'
export type {
  BegunUpload,
  DownloadedMedia,
  MediaSource,
  SealedSource,
  TransferOptions,
  TransferProgress,
  UploadedMedia,
} from './media/media.ts'
export {
  type DownloadOptions,
  type ImageOptions,
  intoBlob,
  Media,
  type SendFileOptions,
  type SendImageOptions,
  type SendMediaOptions,
  type SendVoiceOptions,
  type Spool,
  scaleImage,
  type UploadOptions,
  waveformOf,
} from './media/media.ts'
export type { Conversation, SecrecyStop, SendOptions } from './messages/messages.ts'
export { bytesLeftIn, contentOf, isEditable } from './messages/messages.ts'
export type { AnyClient } from './module-access.ts'
export { type ConversationDecisions, type MessageName, Organizer } from './organizer/organizer.ts'
export type {
  ClientOptions,
  Clock,
  FetchLike,
  ProofOfWork,
  ProofOfWorkSolver,
  SocketClass,
  SocketLike,
  WakeSource,
} from './platform/platform.ts'
export { type ContactProfile, Profiles } from './profiles/profiles.ts'
export { Push, type PushRegistration, type PushSubscriptionLike } from './push/push.ts'
export { Reactions, type ReactionTarget } from './reactions/reactions.ts'
export { Replies, type ReplyName } from './replies/replies.ts'
export { Reports, type ReportWords } from './reports/reports.ts'
export {
  Search,
  type SearchOptions,
  type SearchPage,
  type SearchPlace,
  type SearchResult,
  type TextRange,
} from './search/search.ts'
export { generateMnemonic, validateMnemonic } from './secrecy/secrecy.ts'
export { SecrecyChoices } from './secrecy-choices/secrecy-choices.ts'
export { VanityShop } from './shop/shop.ts'
export type {
  AppRecord,
  CallRecord,
  ClientStore,
  ConversationSettings,
  MessageRange,
  MessageReaction,
  MessageStatus,
  MessagesAround,
  OfflineMessage,
  OutboxIntent,
  PublicIdentity,
  SessionRecord,
  StoredIdentity,
  StoredMessage,
  TrustState,
  Vault,
  VaultRecord,
} from './stores/stores.ts'
export { customVault, keyVault, MemoryStore } from './stores/stores.ts'
export { UnsentMessages } from './unsent/unsent.ts'
