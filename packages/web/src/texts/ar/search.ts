import type { search as en } from '../en/search.ts'
import { plural } from '../plural.ts'

// Search in messages.
export const search: typeof en = {
  title: 'بحث',
  field: 'ابحث في الرسائل',
  begin: 'ابحث في رسائلك',
  beginHint: 'يجري البحث على هذا الجهاز، ولا يعرف الخادم عنه شيئًا.',
  only: 'فقط مع',
  everywhere: 'ابحث في كل مكان',
  nothing: 'لم يُعثر على شيء',
  nothingHint: 'جرّب كلمات أقل، أو بداية كلمة.',
  people: 'أشخاص',
  messages: 'رسائل',
  more: 'عرض رسائل أقدم',
  count: (count) =>
    plural('ar', count, {
      zero: 'لا رسائل',
      one: 'رسالة واحدة',
      two: 'رسالتان',
      few: '# رسائل',
      other: '# رسالة',
    }),
}
