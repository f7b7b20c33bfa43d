// Encrypts or decrypts the frames of one track, in the worker: encrypts with the latest key, decrypts with
// the latest two.
import { CallFrameReceiver, CallFrameSender, CryptoError } from '@sotto/crypto'

/** Encrypts sent frames. Without a key it lets no frame through. */
export class FrameEncryptor {
  readonly #framesPerEpoch: number
  readonly #onSpent: () => void
  #sender: CallFrameSender | undefined
  #framesLeft = 0

  /**
   * @param onSpent called once per key, after `framesPerEpoch` frames; the key stays in use until the next
   *   one comes
   */
  constructor(framesPerEpoch: number, onSpent: () => void) {
    this.#framesPerEpoch = framesPerEpoch
    this.#onSpent = onSpent
  }

  /** Sets the key of a new epoch. */
  use(keyMaterial: Uint8Array): void {
    this.#sender = new CallFrameSender(keyMaterial)
    this.#framesLeft = this.#framesPerEpoch
  }

  /** The encrypted frame; undefined if it must not be sent. */
  async transform(frame: Uint8Array): Promise<Uint8Array | undefined> {
    const sender = this.#sender
    if (!sender) return undefined
    this.#framesLeft -= 1
    if (this.#framesLeft === 0) this.#onSpent()
    try {
      return await sender.encrypt(frame)
    } catch (error) {
      if (error instanceof CryptoError && error.code === 'COUNTER_EXHAUSTED') return undefined
      throw error
    }
  }
}

/** Decrypts received frames. */
export class FrameDecryptor {
  /** The latest first. The previous one is for frames that are still in transit. */
  #receivers: readonly CallFrameReceiver[] = []

  /** Sets the key of the other side's next epoch. */
  use(keyMaterial: Uint8Array): void {
    this.#receivers = [new CallFrameReceiver(keyMaterial), ...this.#receivers.slice(0, 1)]
  }

  /** The decrypted frame; undefined if no key decrypts it or it was received before. */
  async transform(frame: Uint8Array): Promise<Uint8Array | undefined> {
    for (const receiver of this.#receivers) {
      try {
        return await receiver.decrypt(frame)
      } catch (error) {
        // Chromium also passes empty audio frames, made of padding; they do not decrypt.
        if (!(error instanceof CryptoError)) throw error
      }
    }
    return undefined
  }
}
