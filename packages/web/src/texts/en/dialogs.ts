// The dialogs of a conversation.
export const dialogs = {
  forwardTo: 'Forward to',
  findContact: 'Name',
  nobodyFound: 'No friend has this name.',
  retractTitle: 'Retract this message?',
  retractText: (name: string) =>
    `It is deleted here, and the app of ${name} is asked to delete it too. It may have been read already.`,
  detailFrom: 'From',
  detailText: 'Text',
  detailTime: 'Time',
  detailStatus: 'Status',
  detailSize: 'Size',
  detailNumber: 'Number in the conversation',
  detailId: 'Id',
  detailKey: 'Encryption',
  keyVerified: 'End to end, and you have compared the security code.',
  keyUnverified: 'End to end. You have not compared the security code yet.',
  linkTitle: 'Open this link?',
  linkText: 'The link does not lead where its text says.',
  linkShown: 'It says',
  linkLeads: 'It leads to',
  linkOpen: 'Open anyway',
}
