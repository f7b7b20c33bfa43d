import { plural } from '../plural.ts'

// Search in messages.
export const search = {
  title: 'Search',
  field: 'Search messages',
  begin: 'Search your messages',
  beginHint: 'The search runs on this device. The relay learns nothing of it.',
  only: 'Only with',
  everywhere: 'Search everywhere',
  nothing: 'Nothing found',
  nothingHint: 'Try fewer words, or the beginning of a word.',
  people: 'People',
  messages: 'Messages',
  more: 'Show earlier ones',
  count: (count: number) => plural('en', count, { one: '# message', other: '# messages' }),
}
