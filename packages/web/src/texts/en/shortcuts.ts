// The list of keyboard shortcuts.
export const shortcuts = {
  title: 'Keyboard shortcuts',
  search: 'Search',
  next: 'Next conversation',
  previous: 'Previous conversation',
  send: 'Send the message',
  line: 'New line',
  edit: 'In the empty field: edit your last message',
  answer: 'In the empty field: answer the last message, or one before',
  emoji: 'Find an emoji by its name',
  messages: 'From message to message',
  edges: 'First and last message',
  menu: 'At a message: what can be done with it',
  close: 'Close',
  list: 'Show this list',
}
