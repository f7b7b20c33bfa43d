/** Whether something that is shown has the focus. Runs in the page. */
export function isFocusShown(): boolean {
  const { activeElement, body } = document
  return activeElement !== null && activeElement !== body && activeElement.checkVisibility()
}
