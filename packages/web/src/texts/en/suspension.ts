// The bar of a suspended account.
export const suspension = {
  title: 'The operator of the relay has suspended your account',
  reason: 'Reason:',
  until: (time: string) => `It ends on ${time}.`,
  withoutEnd: 'No end is set.',
  stillWorks:
    'Nothing is sent or received. You can still read what is on this device, save it to a file, and delete your account.',
  check: 'Check again',
}
