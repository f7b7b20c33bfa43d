// Storage on the device: records, stores, the journal that writes them, and the vaults that seal secrets. The
// file store and the passphrase vault are separate entries of the package, so that only their users load
// them.
export { customVault } from './custom-vault.ts'
export { type DeleteDatabaseOptions, deleteDatabase } from './delete-database.ts'
export { type DeviceKeyOptions, deviceKeyVault } from './device-key-vault.ts'
export { IndexedDbStore } from './indexeddb-store.ts'
export { Journal } from './journal.ts'
export { keyVault } from './key-vault.ts'
export { MemoryStore } from './memory-store.ts'
export {
  blockOfLines,
  type LineFormat,
  latestPlaceFirst,
  type MessageBlock,
  MessageBlocks,
  MessagePlace,
} from './message-blocks.ts'
export { newerSchema, SCHEMA_VERSION, stepsAfter } from './migrations.ts'
export { isAllowedCost, PASSPHRASE_COST } from './passphrase-cost.ts'
export {
  AboutMessage,
  AppRecord,
  CallRecord,
  ConversationSettings,
  type ConversationSummary,
  conversationOf,
  LIBRARY_VALUES,
  type MessagePatch,
  MessageReaction,
  MessageStatus,
  type OfflineMessage,
  type OutboxIntent,
  type PublicIdentity,
  patched,
  publicPart,
  type ReadMark,
  type RetractIntent,
  type SessionRecord,
  StoreChange,
  StoredIdentity,
  StoredMessage,
  TrustState,
  tombstoneOf,
  type VaultRecord,
} from './records.ts'
export { openSecrets, type Secrets } from './secrets.ts'
export type { ClientStore, MessageRange, MessagesAround } from './store.ts'
export type { Vault } from './vault.ts'
