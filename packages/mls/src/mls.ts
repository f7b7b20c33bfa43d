// The package's main entry: MLS groups (RFC 9420) behind one interface. Nothing else knows the MLS library.
import { wireformats } from 'ts-mls'
import type { CheckLeaf } from './check-leaf.ts'
import { type Group, heldOf } from './group.ts'
import { type OpenedCommit, openCommit } from './handshake.ts'
import { readMessage } from './inspect.ts'
import { type OpenedMessage, openMessage } from './messages.ts'
import { asMlsError, invalid } from './mls-error.ts'

export { type CheckLeaf, MAX_FORMER_EPOCHS, MAX_FORWARD_STEPS } from './check-leaf.ts'
export {
  decodeGroup,
  encodeGroup,
  epochOf,
  exportSecret,
  forgetEpochs,
  formerEpochs,
  type Group,
  groupIdOf,
  type LeafKeys,
  type Member,
  members,
  ownMember,
} from './group.ts'
export {
  addMember,
  commitUpdate,
  createGroup,
  joinByWelcome,
  type OpenedCommit,
  type OwnCommit,
  readWelcome,
  rejoin,
} from './handshake.ts'
export { MAX_INPUT_BYTES, MAX_LEAVES } from './inspect.ts'
export {
  createKeyPackage,
  type KeyPackageContent,
  type KeyPackageLifetime,
  newSignatureKeys,
  readKeyPackage,
} from './key-package.ts'
export { encrypt, MAX_OVERTAKEN_KEYS, type OpenedMessage } from './messages.ts'
export { MlsError, type MlsErrorCode } from './mls-error.ts'

/**
 * Opens a message, or applies a commit of another device. Nothing changes if it throws: go on with the former
 * group. `check` is asked about each leaf that a commit brings.
 */
export function open(
  group: Group,
  message: Uint8Array,
  check: CheckLeaf,
): Promise<OpenedMessage | OpenedCommit> {
  return asMlsError('the message', async () => {
    const read = readMessage(message)
    if (read.wireformat === wireformats.mls_private_message)
      return openMessage(heldOf(group), read.privateMessage)
    if (read.wireformat === wireformats.mls_public_message)
      return openCommit(heldOf(group), read.publicMessage, check)
    throw invalid('neither a message nor a commit')
  })
}
