// The package's main entry. It exports every public name.
export {
  type AuthChallenge,
  parseAuthChallenge,
  signAuthChallenge,
  verifyAuthChallenge,
} from './auth-challenge.ts'
export { decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from './base64.ts'
export { type Bytes, type RandomBytes, releaseBytes } from './bytes.ts'
export {
  CALL_FRAME_OVERHEAD_BYTES,
  CALL_MEDIA_KEY_BYTES,
  CALL_REPLAY_WINDOW,
  CallFrameReceiver,
  CallFrameSender,
  type CallMediaKeyInput,
  type DecryptCallFrameInput,
  decryptCallFrame,
  deriveCallMediaKey,
  type EncryptCallFrameInput,
  encryptCallFrame,
  MAX_CALL_FRAMES_PER_EPOCH,
  ReplayWindow,
} from './call-media.ts'
export {
  CALL_NONCE_MEMORY_MS,
  CALL_SIGNAL_CRYPTO_VERSION,
  CALL_SIGNAL_MAX_AGE_MS,
  type CallSignal,
  type CallSignalFields,
  type CallSignalFrame,
  type CallSignalRefusal,
  type CallSignalType,
  canonicalCallSignal,
  type OpenCallSignalInput,
  type OpenedCallSignal,
  openCallSignal,
  type ReceivedCallSignalFrame,
  type SealCallSignalInput,
  SeenCallNonces,
  sealCallSignal,
  signCallSignal,
  verifyCallSignal,
} from './call-signal.ts'
export { CryptoError, type CryptoErrorCode } from './crypto-error.ts'
export {
  FILE_CHUNK_BYTES,
  FILE_CHUNK_OVERHEAD_BYTES,
  type FileChunk,
  type FilePlan,
  newFileKey,
  openFileChunk,
  planFile,
  sealFileChunk,
} from './file-key.ts'
export { bytesToHex, hexToBytes } from './hex.ts'
export { agreeSharedSecret, isValidX25519PublicKey } from './key-agreement.ts'
export {
  deriveAgreementKeyPair,
  deriveIdentityKeys,
  deriveSigningKeyPair,
  type IdentityKeys,
  type KeyPair,
} from './key-pairs.ts'
export {
  CHUNK_OVERHEAD_BYTES,
  ChunkReader,
  type DecryptChunkInput,
  decryptChunk,
  type EncryptChunkInput,
  encryptChunk,
  MAX_CHUNK_PLAINTEXT_BYTES,
  splitChunks,
} from './media-chunk.ts'
export {
  appendMediaDigest,
  appendMediaSha256,
  bareMediaKey,
  checkMediaDigest,
  isMediaKey,
} from './media-key.ts'
export {
  decodeContent,
  encodeContent,
  type FileContent,
  type ImageContent,
  type ImageDetails,
  type MessageContent,
  type OutgoingContent,
  type TextContent,
  type VoiceContent,
} from './message-content.ts'
export {
  type DecryptMessageInput,
  decryptMessage,
  type EncryptMessageInput,
  encryptMessage,
  MESSAGE_CRYPTO_VERSION,
} from './message-envelope.ts'
export { generateMnemonic, mnemonicToSeed, normalizeMnemonic, validateMnemonic } from './mnemonic.ts'
export type { ProofOfWorkChallenge, SolveProofOfWorkInput } from './nonce-search.ts'
export { loadPrimitives } from './primitives.ts'
export { solveProofOfWork, type VerifyProofOfWorkInput, verifyProofOfWork } from './proof-of-work.ts'
export { formatSealedFile, parseSealedFile } from './sealed-file.ts'
export {
  SealedStream,
  type SealedStreamInput,
  STREAM_CHUNK_BYTES,
  STREAM_CHUNK_OVERHEAD_BYTES,
} from './sealed-stream.ts'
export { type OpenValueInput, openValue, type SealValueInput, sealValue } from './sealed-value.ts'
export type { SealedFile } from './secret-kinds.ts'
export { formatSecurityCode, securityCode } from './security-code.ts'
export { deriveSessionKey, type SessionKeyInput } from './session-key.ts'
export { sign, verifySignature } from './signature.ts'
export { deriveEd25519Path, parseEd25519Path, type Slip10Node } from './slip10.ts'
