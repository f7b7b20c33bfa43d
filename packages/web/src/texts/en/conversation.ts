// One conversation.
export const conversation = {
  message: 'Message',
  write: 'Write a message',
  send: 'Send',
  retracted: 'This message was retracted',
  undecryptable: 'This message could not be decrypted',
  empty: 'No messages yet',
  emptyHint: 'Messages are encrypted on your device. Compare the security code to be sure who reads them.',
  unknown: 'There is no such conversation',
  notFriends: 'You are not friends any more, so nothing can be sent.',
  list: (name: string) => `Messages with ${name}`,
  marks: {
    sending: 'Sending',
    sent: 'Sent',
    delivered: 'Delivered',
    read: 'Read',
    failed: 'Not sent',
  },
  from: (name: string) => `${name}:`,
  fromMe: 'You:',
}
