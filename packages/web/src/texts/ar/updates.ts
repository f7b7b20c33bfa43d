import type { Texts } from '../en/en.ts'

export const updates: Texts['updates'] = {
  ready: 'يتوفر إصدار جديد من Sotto.',
  update: 'تحديث',
  onlineOnly: 'لا يحفظ هذا المتصفح Sotto للعمل دون اتصال.',
  pushed: { message: 'رسائل جديدة', call: 'هناك من يتصل بك' },
}
