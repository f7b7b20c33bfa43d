// Becoming contacts: looks somebody up, sends a request, accepts one.
import { type Signal, useSignal } from '@preact/signals'
import { ClientError, type FriendProfile, type UserLookup } from '@sotto/client'
import { whileBusy } from '../../parts/while-busy.ts'
import { attempt, notify } from '../../session/notices.ts'
import { goFromHere, href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { contactsTexts } from '../../texts/contacts.ts'

interface Befriending {
  readonly isBusy: Signal<boolean>
  /** The account of an alias; undefined if there is none. @throws ClientError as `lookUpUser` does */
  lookUp(alias: string): Promise<UserLookup | undefined>
  /** The entry of the friend list for an account. */
  friendOf(user: UserLookup): FriendProfile | undefined
  /** Sends a request, then shows the contacts. */
  request(user: UserLookup): Promise<void>
  /** Accepts a request, then shows the contacts. */
  accept(friend: FriendProfile): Promise<void>
}

export function useBefriending(): Befriending {
  const { client, friends } = useSession()
  const isBusy = useSignal(false)
  const t = contactsTexts.value
  const run = (work: () => Promise<unknown>, done: string): Promise<void> =>
    whileBusy(isBusy, async () => {
      const go = goFromHere()
      if (!(await attempt(work))) return
      notify(done)
      go(href('contacts'))
    })
  return {
    isBusy,
    async lookUp(alias) {
      try {
        return await client.lookUpUser(alias)
      } catch (error) {
        if (
          error instanceof ClientError &&
          (error.code === 'INVALID_ARGUMENT' || error.refusal === 'NOT_FOUND')
        )
          return undefined
        throw error
      }
    },
    friendOf: (user) => friends.value.find(({ alias_id }) => alias_id === user.alias_id),
    request: (user) => run(() => client.requestFriend(user.alias_id), t.requested(user.nickname)),
    accept: (friend) => run(() => client.acceptFriend(friend.friendship_id), t.accepted(friend.nickname)),
  }
}
