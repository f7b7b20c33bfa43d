// What is changed of messages that were sent: which one is being edited, and reactions.
import { type ReadonlySignal, useSignal } from '@preact/signals'
import { type Conversation, isEditable, type StoredMessage } from '@sotto/client'
import { useLayoutEffect } from 'preact/hooks'
import { loadPart } from '../../parts/lazy.tsx'
import { nowMs } from '../../session/clock.ts'
import { offerReload } from '../../session/notices.ts'
import type { Session } from '../../session/session.ts'

interface Changes {
  /** Whether one can react in this conversation now. */
  readonly canReact: ReadonlySignal<boolean>
  /** Reacts, or takes back the reaction if it is this one. Resolves with whether the text is a reaction. */
  readonly react: (message: StoredMessage, emoji: string) => Promise<boolean>
  /** The message that is being edited. */
  readonly edited: ReadonlySignal<StoredMessage | undefined>
  /** Edits a message, once the form for that is loaded. */
  readonly edit: (message: StoredMessage) => void
  /** Ends the edit of this message, if it is the one that is being edited. */
  readonly endEdit: (message: StoredMessage) => void
  /** Edits the last of these messages that can be edited, if there is one. */
  readonly editLastOf: (list: readonly StoredMessage[]) => void
}

export function useChanges(session: Session, conversation: Conversation): Changes {
  const { isFriend, hasForwardSecrecy } = conversation
  const isPossible = isFriend && hasForwardSecrecy
  const canReact = useSignal(isPossible)
  const edited = useSignal<StoredMessage | undefined>(undefined)
  useLayoutEffect(() => {
    canReact.value = isPossible
  }, [isPossible])
  const edit = (message: StoredMessage): void => {
    // Until then, and if it cannot be loaded, the field to write in stays.
    loadPart(() => import('./edit-form.tsx')).then(() => {
      edited.value = message
    }, offerReload)
  }
  const endEdit = ({ id, isMe }: StoredMessage): void => {
    if (isMe && edited.value?.id === id) edited.value = undefined
  }
  useLayoutEffect(() => {
    // Also by another tab: the text that is being edited is not the message's any more.
    const stops = [session.client.on('retracted', endEdit), session.client.on('edited', endEdit)]
    return () => {
      for (const stop of stops) stop()
    }
  }, [])
  return {
    canReact,
    react: async (message, emoji) => {
      try {
        const load = () => Promise.all([import('./react.ts'), session.later()])
        const [{ react }, { reactions }] = await loadPart(load)
        return await react(reactions, message, emoji)
      } catch (error) {
        offerReload(error)
        return true
      }
    },
    edited,
    edit,
    endEdit,
    editLastOf: (list) => {
      if (!isPossible) return
      const last = list.findLast((message) => isEditable(message, nowMs()))
      if (last) edit(last)
    },
  }
}
