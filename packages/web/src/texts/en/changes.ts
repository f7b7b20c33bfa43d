import { plural } from '../plural.ts'

// What is changed of messages that were sent: edits of one's own, and reactions to those of both sides.
export const changes = {
  react: 'React',
  /** The reactions that the menu of a message offers, each with its name. */
  quick: {
    '👍': 'thumbs up',
    '❤️': 'heart',
    '😂': 'tears of joy',
    '😮': 'surprised',
    '😢': 'crying',
    '🙏': 'thanks',
  } as Readonly<Record<string, string>>,
  otherEmoji: 'Another emoji',
  reactTitle: 'React with an emoji',
  emojiOrName: 'Name of an emoji, or the emoji itself',
  list: 'Emoji',
  noEmojiFound: 'No emoji here has this name. You can enter another one with your keyboard.',
  oneEmoji: 'That is not one emoji. Enter a single one, or choose it from the list.',
  edit: 'Edit',
  editing: 'Edit your message',
  newText: 'New text of the message',
  notReactable: 'One cannot react to this message any more.',
  notEditable: 'This message cannot be edited any more.',

  // For screen readers, as it comes.
  heardEdit: (name: string, text: string) => `${name} edited a message: ${text}`,
  heardReaction: (name: string, emoji: string, text: string) => `${name} reacted with ${emoji} to: ${text}`,
  heardTakenBack: (name: string, text: string) => `${name} took back the reaction to: ${text}`,
  heardChanges: (name: string, count: number) =>
    `${name}: ${plural('en', count, { one: '# edit or reaction', other: '# edits and reactions' })}`,
}
