// The invitation in the page's own address. It stays there until the user has answered it, also while an
// account is made.
import { computed } from '@preact/signals'
import { readInvitation } from './invitation.ts'
import { route } from './route.ts'

/** The invitation that the page was opened with, if any. */
export const openedInvitation = computed(() =>
  route.value.path[0] === 'add' ? readInvitation(location.href) : undefined,
)
