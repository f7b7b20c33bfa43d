import { plural } from '../plural.ts'

// The list of conversations.
export const chats = {
  title: 'Chats',
  empty: 'No conversations yet',
  emptyHint: 'Add somebody by their alias, or let them scan yours.',
  addContact: 'Add a contact',
  choose: 'Choose a conversation',
  chooseHint: 'Or add somebody to talk to.',
  draft: 'Draft:',
  you: 'You:',
  typing: 'is typing…',
  image: 'Picture',
  file: 'File',
  voice: 'Voice message',
  retracted: 'Message retracted',
  undecryptable: 'Could not be decrypted',
  nothing: 'Say hello',
  pinned: 'Pinned',
  muted: 'Muted',
  archived: 'Archived',
  archivedCount: (count: number) =>
    plural('en', count, { one: '# archived conversation', other: '# archived conversations' }),
  requests: (count: number) => plural('en', count, { one: '# friend request', other: '# friend requests' }),
  position: (number: number, total: number) => `${number} of ${total}`,
}
