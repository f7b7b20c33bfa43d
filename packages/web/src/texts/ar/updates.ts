import type { updates as en } from '../en/updates.ts'

export const updates: typeof en = {
  ready: 'يتوفر إصدار جديد من Sotto.',
  update: 'تحديث',
  onlineOnly: 'لا يحفظ هذا المتصفح Sotto للعمل دون اتصال.',
  pushed: { message: 'رسائل جديدة', call: 'هناك من يتصل بك' },
}
