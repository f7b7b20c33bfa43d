// The store of this device has failed.
export const store = {
  failedTitle: 'This device stores nothing more',
  failedText:
    'It is probably full. What you write stays in its field, and is not sent. Delete what you do not need on this device, then go on.',
  storage: 'Storage',
  goOn: 'Go on',
  reload: 'Load the page again',
}
