// What happened, and what to do, for the codes that only channels, the shop, files and settings can bring.
export const laterErrors = {
  codes: {
    CHANNEL_CLOSED: 'The operator of the relay has closed this channel.',
    STORE_UNAVAILABLE: 'The relay does not reach its database. Try again in a moment.',
    NO_KEY_PACKAGES: 'No device of this person is ready for a secure conversation yet. Try later.',
    TOO_MANY_INVITES: 'You have made as many invites as the operator of the relay allows.',
    PUSH_UNAVAILABLE: 'This relay cannot notify this device while the app is closed.',
    MEDIA_UNAVAILABLE: 'The relay cannot take or give files now. Try later.',
    QUOTA_EXCEEDED: 'All seats for channels are taken.',
    NOT_CHANNEL_OWNER: 'This channel belongs to somebody else.',
    CHANNEL_TAKEN: 'Somebody else is buying this channel, or it is not for sale any more.',
    OWN_CHANNEL: 'This channel is yours already.',
    TOO_MANY_SUBSCRIPTIONS:
      'You are subscribed to as many channels as the relay allows. End a subscription first.',
    PAYMENTS_UNAVAILABLE: 'This relay takes no payments at the moment.',
    ALIAS_TAKEN: 'Somebody else has this alias, or is buying it.',
    TOO_MANY_ORDERS: 'Too many orders wait for a payment. Pay one, or wait until it ends.',
    ORDER_CLOSED: 'Nothing more is to be paid for this order.',
    ORDER_NOT_CONFIRMED: 'The payment is not confirmed yet.',
  } as Readonly<Record<string, string>>,
}
