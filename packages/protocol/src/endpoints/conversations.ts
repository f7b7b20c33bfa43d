// Endpoints of conversations. Their messages travel as frames.
import * as conversations from '../bodies/conversations.ts'
import { define, type Summaries } from './endpoint.ts'

export const conversationEndpoints = define({
  activeConversations: {
    method: 'GET',
    path: '/conversations/active',
    auth: 'account',
    rate: 'read',
    status: 200,
    reply: conversations.ActiveConversationsReply,
    longReply: true,
    errors: [],
  },
  conversationGroup: {
    method: 'GET',
    path: '/conversations/{conv_id}/group',
    auth: 'account',
    rate: 'read',
    params: conversations.ConversationPath,
    status: 200,
    reply: conversations.GroupReply,
    errors: ['NOT_FOUND'],
  },
  withdrawMessages: {
    method: 'POST',
    path: '/conversations/{conv_id}/withdraw',
    auth: 'account',
    rate: 'write',
    params: conversations.ConversationPath,
    status: 200,
    reply: conversations.WithdrawnReply,
    longReply: true,
    errors: ['NOT_FOUND', 'MAILBOX_FULL'],
  },
})

/** One line about each endpoint, for the documents. */
export const conversationSummaries: Summaries<typeof conversationEndpoints> = {
  activeConversations: 'The conversations that the caller can write in',
  conversationGroup:
    'The epoch of a conversation that the caller can write in, what a device joins it with, and the `seq` of what the caller sent last',
  withdrawMessages:
    'Takes back messages of `crypto_v` 3 that the caller sent and that were not delivered, at most 500',
}
