// Fetches the whole friend list, page by page.
import { FRIENDS_PER_PAGE, type FriendProfile, friendEndpoints } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type { Http } from '../wire/wire.ts'

/** A longer list is an error of the relay; it would fill this device's memory. */
const MOST_PAGES = 100

/** @throws ClientError as `call` does; `BAD_REPLY` if the list does not end */
export async function fetchFriends(http: Http): Promise<FriendProfile[]> {
  let friends: FriendProfile[] = []
  let after = 0
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const query = { limit: FRIENDS_PER_PAGE, ...(after === 0 ? {} : { after }) }
    const page = await http.call(friendEndpoints.listFriends, { query })
    const rows = page.filter(({ friendship_id }) => friendship_id > after)
    friends = friends.length === 0 ? rows : joined(friends, rows)
    const last = rows.at(-1)
    // A relay that knows no pages answers the whole list each time, of whatever length.
    if (!last || page.length !== FRIENDS_PER_PAGE) return friends
    after = last.friendship_id
  }
  throw new ClientError('BAD_REPLY', 'the relay’s friend list does not end')
}

// A friendship that ended and began again between two pages is on both, with a higher number on the later
// one.
function joined(friends: readonly FriendProfile[], page: readonly FriendProfile[]): FriendProfile[] {
  const renewed = new Set(page.map(({ alias_id }) => alias_id))
  return [...friends.filter(({ alias_id }) => !renewed.has(alias_id)), ...page]
}
