// The update of the app, and the notifications of its service worker.
export const updates = {
  ready: 'A new version of Sotto is ready.',
  update: 'Update',
  onlineOnly: 'This browser does not keep Sotto for offline use.',
  pushed: { message: 'New messages', call: 'Somebody calls you' },
}
