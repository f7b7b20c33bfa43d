// A notification of the system while a call rings and nobody looks at the page.

/** Shows it, if the user allows notifications. Returns a function that removes it. */
export function notifyOfCall(title: string): () => void {
  let isOver = false
  let remove = (): void => {}
  const showAndRemember = async (): Promise<void> => {
    const close = await show(title)
    if (isOver) close()
    else remove = close
  }
  if (document.hidden && 'Notification' in globalThis && Notification.permission === 'granted')
    void showAndRemember()
  return () => {
    isOver = true
    remove()
  }
}

async function show(title: string): Promise<() => void> {
  // Every tab rings, and a push may have come before: notifications with the same tag replace each other.
  const options = { tag: 'sotto-call', requireInteraction: true, icon: './icons/sotto.svg' }
  const registration = await navigator.serviceWorker?.getRegistration()
  if (registration?.active) {
    await registration.showNotification(title, options)
    return () => void closeAll(registration, options.tag)
  }
  const notification = new Notification(title, options)
  notification.addEventListener('click', () => {
    window.focus()
    notification.close()
  })
  return () => notification.close()
}

async function closeAll(registration: ServiceWorkerRegistration, tag: string): Promise<void> {
  for (const notification of await registration.getNotifications({ tag })) notification.close()
}
