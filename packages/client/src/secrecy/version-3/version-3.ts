// The course of a conversation under crypto_v 3: a script of its own, loaded when a conversation needs it.
export { type Course, isSettled, newCourse, presentOf } from './course.ts'
export { decodeCourse, decodeInBlocks, encodeCourse, encodeInBlocks } from './course-code.ts'
export type { Ask, CourseEvent, Handshake, Keep, Notice, OwnKeyPackage } from './events.ts'
export { type BlockSizes, decodeBlock, encodeBlock, type SentBlock } from './sent-blocks.ts'
export type { Sides } from './sides.ts'
export { type Step, step, stepWithoutKeys } from './step.ts'
export type { Surroundings } from './turn.ts'
