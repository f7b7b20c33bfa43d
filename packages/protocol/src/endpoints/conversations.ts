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
})

/** One line about each endpoint, for the documents. */
export const conversationSummaries: Summaries<typeof conversationEndpoints> = {
  activeConversations: 'The conversations that the caller can write in',
}
