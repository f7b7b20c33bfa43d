// A store in memory whose reads take a moment, as those of a disk do. The times are what is tested: they let
// other work of the client begin in between, and nothing waits for them to be over.
import { MemoryStore, type StoredMessage } from '../src/client.ts'

/** A store with slow reads. With `failsOnce`, the next read of a message by its seq fails. */
export class SlowStore extends MemoryStore {
  failsOnce = false
  override async getIdentity() {
    const identity = await super.getIdentity()
    await Bun.sleep(100)
    return identity
  }
  override async latestPeerSeq(conversationId: string) {
    const seq = await super.latestPeerSeq(conversationId)
    await Bun.sleep(30)
    return seq
  }
  override async findMessage(conversationId: string, isMe: boolean, id: string) {
    const found = await super.findMessage(conversationId, isMe, id)
    await Bun.sleep(30)
    return found
  }
  override async findMessageBySeq(conversationId: string, seq: number): Promise<StoredMessage | undefined> {
    if (this.failsOnce) {
      this.failsOnce = false
      throw new Error('the disk could not be read')
    }
    return super.findMessageBySeq(conversationId, seq)
  }
}
