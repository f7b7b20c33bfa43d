// Who may enter a group: the caller's check, asked about each leaf that the library or we let in.
import {
  type AuthenticationService,
  type ClientConfig,
  defaultCredentialTypes,
  type LeafNode,
  type MlsContext,
  nodeTypes,
  type RatchetTree,
} from 'ts-mls'
import { equalBytes } from './bytes.ts'
import { type LeafKeys, memberOf } from './group.ts'
import { MlsError } from './mls-error.ts'
import { suite } from './suite.ts'

/**
 * Decides over a leaf before it is let in. Return false to refuse. Throw nothing: what it throws becomes
 * `UNAVAILABLE`.
 */
export type CheckLeaf = (leaf: {
  credential: Uint8Array
  signaturePublicKey: Uint8Array
}) => boolean | Promise<boolean>

/**
 * How far a message may lie ahead of its sender's last one: as many messages as a mailbox holds. More are
 * refused, because each step costs time.
 */
export const MAX_FORWARD_STEPS = 10_000

/** How many former epochs a group holds at most, until `forgetEpochs`. */
export const MAX_FORMER_EPOCHS = 8

const CONFIG: Omit<ClientConfig, 'keyPackageEqualityConfig'> = {
  keyRetentionConfig: {
    // The library would keep the ratchet's secret for each overtaken message, from which the keys of all
    // later ones follow. We keep keys instead (messages.ts).
    retainKeysForGenerations: 0,
    retainKeysForEpochs: MAX_FORMER_EPOCHS,
    maximumForwardRatchetSteps: MAX_FORWARD_STEPS,
  },
  lifetimeConfig: { maximumTotalLifetime: 0n, validateLifetimeOnReceive: false },
  paddingConfig: { kind: 'alwaysPad', paddingLength: 0 },
}

/** One operation's door: asks the caller's check about each leaf, once. */
export class Door {
  readonly #check: CheckLeaf
  readonly #own: LeafKeys | undefined
  #asked: { leaf: Asked; answer: boolean }[] = []
  #hasFailed = false

  /** `own` is this device's leaf, about which nobody is asked. */
  constructor(check: CheckLeaf, own?: LeafKeys) {
    this.#check = check
    this.#own = own
  }

  /** What the library needs for an operation. `replaced` is the leaf whose place a rejoin takes. */
  async context(replaced?: Asked): Promise<MlsContext> {
    const authService: AuthenticationService = {
      validateCredential: (credential, signaturePublicKey) =>
        credential.credentialType === defaultCredentialTypes.basic && 'identity' in credential
          ? this.#lets({ credential: credential.identity, signaturePublicKey })
          : Promise.resolve(false),
    }
    const isReplaced = ({ signaturePublicKey }: LeafNode) =>
      replaced !== undefined && equalBytes(signaturePublicKey, replaced.signaturePublicKey)
    return {
      cipherSuite: await suite(),
      authService,
      clientConfig: {
        ...CONFIG,
        keyPackageEqualityConfig: {
          compareKeyPackages: () => false,
          compareKeyPackageToLeafNode: (_keyPackage, leaf) => isReplaced(leaf),
        },
      },
    }
  }

  /** Runs an operation of the library. If a leaf was refused, the error is `REFUSED`, whatever was thrown. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.#throwRefusal()
      throw error
    }
  }

  /** Asks about every leaf of `after` that was not in `before`, and throws if one is refused. */
  async checkEntries(before: RatchetTree, after: RatchetTree): Promise<void> {
    for (const [at, node] of after.entries()) {
      if (node?.nodeType !== nodeTypes.leaf) continue
      const leaf = memberOf(node.leaf, at / 2)
      const former = before[at]
      if (former?.nodeType === nodeTypes.leaf && isSame(memberOf(former.leaf, at / 2), leaf)) continue
      await this.checkEntry(leaf)
    }
  }

  /** Asks about one leaf, and throws if it is refused. */
  async checkEntry(leaf: Asked): Promise<void> {
    if (!(await this.#lets(leaf))) this.#throwRefusal()
  }

  #throwRefusal(): void {
    if (this.#hasFailed) throw new MlsError('UNAVAILABLE', 'the check of a leaf failed')
    if (this.#asked.some(({ answer }) => !answer)) throw new MlsError('REFUSED', 'a leaf was refused')
  }

  async #lets({ credential, signaturePublicKey }: Asked): Promise<boolean> {
    const leaf = {
      credential: new Uint8Array(credential),
      signaturePublicKey: new Uint8Array(signaturePublicKey),
    }
    if (this.#own && isSame(this.#own, leaf)) return true
    const known = this.#asked.find((asked) => isSame(asked.leaf, leaf))
    if (known) return known.answer
    try {
      const answer = (await this.#check(leaf)) === true
      this.#asked.push({ leaf, answer })
      return answer
    } catch {
      this.#hasFailed = true
      return false
    }
  }
}

type Asked = Pick<LeafKeys, 'credential' | 'signaturePublicKey'>

function isSame(one: Asked, other: Asked): boolean {
  return (
    equalBytes(one.credential, other.credential) &&
    equalBytes(one.signaturePublicKey, other.signaturePublicKey)
  )
}
