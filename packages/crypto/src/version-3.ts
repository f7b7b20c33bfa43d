// The package's entry for crypto_v 3. It is an entry of its own, because an application loads it only when a
// conversation needs it.
export type { AccountKeys } from './account-keys.ts'
export { ByteReader, ByteWriter } from './byte-record.ts'
export { MAX_UNKNOWN_MEMBERS, type UnknownMember } from './content-members.ts'
export {
  type ExpectedLeaf,
  LEAF_CERTIFICATE_FUTURE_MS,
  type LeafCertificate,
  MAX_LEAF_CERTIFICATE_BYTES,
  readLeafCertificate,
  type SignLeafCertificateInput,
  signLeafCertificate,
  verifyLeafCertificate,
} from './leaf-certificate.ts'
export {
  BINDING_BYTES,
  type BindingContext,
  decodeBinding,
  encodeBinding,
  hashOfMessage,
  MESSAGE_HASH_BYTES,
  type MessagePlace,
} from './message-binding.ts'
export {
  deriveOuterKey,
  type OpenOuterInput,
  OUTER_OVERHEAD_BYTES,
  type OuterContext,
  type OuterKind,
  openOuter,
  type SealOuterInput,
  sealOuter,
} from './outer-aead.ts'
export { MAX_UNPADDED_BYTES, MIN_PADDED_BYTES, pad, paddedLength, unpad } from './padding.ts'
export { decodeSecretContent, encodeSecretContent } from './secret-content.ts'
export {
  MAX_SECRET_CONTENT_BYTES,
  MAX_SECRET_TEXT_BYTES,
  type SecretAttachment,
  type SecretContent,
  type SecretDeletion,
  type SecretEdit,
  type SecretPreview,
  type SecretProfile,
  type SecretReaction,
  type SecretText,
  type SecretTextForm,
  type SecretUnknown,
  type SecretVoice,
} from './secret-kinds.ts'
export {
  CALL_EXPORTER_LABEL,
  CALL_SECRET_BYTES,
  type CallKeyPlace,
  deriveMediaSecret,
  epochOfSignal,
  type OpenedSecretSignal,
  type OpenSecretSignalInput,
  openSecretSignal,
  type SealSecretSignalInput,
  type SecretSignal,
  sealSecretSignal,
} from './secret-signal.ts'
