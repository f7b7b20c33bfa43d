// The locked app.
export const lock = {
  title: 'Locked',
  text: 'Enter your passphrase to open your messages.',
  passphrase: 'Passphrase',
  unlock: 'Unlock',
  unlocking: 'Unlocking takes some seconds…',
  forgotten: 'Forgotten? Recover with the 12 words',
  forgottenTitle: 'Erase this device?',
  forgottenText:
    'A forgotten passphrase cannot be restored. The account and all messages are deleted from this device; the 12 words then lead back to the account, and to no message.',
  forgottenDo: 'Erase and recover',
}
