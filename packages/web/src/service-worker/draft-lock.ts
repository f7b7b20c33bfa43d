/** Pages hold this lock while something that was typed is not yet in the store. */
export const DRAFT_LOCK = 'sotto-draft'
