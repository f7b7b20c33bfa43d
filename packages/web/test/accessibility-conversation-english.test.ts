// What opens in a conversation in English, in both sizes and themes: axe-core finds no barrier.
import { testBarriers } from './barriers.ts'
import { tourOfConversation } from './tour-conversation.ts'

testBarriers('no menu, dialog, or other thing in a conversation has a barrier', 'en', tourOfConversation)
