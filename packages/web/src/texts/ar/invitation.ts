import type { Texts } from '../en/en.ts'

// An invitation link: who is added is asked first.
export const invitation: Texts['invitation'] = {
  title: 'دعوة',
  text: 'أُعدّ هذا الرابط لتصبحا من جهات اتصال بعضكما. لا يُرسل الطلب إلا إذا وافقت.',
  notNow: 'ليس الآن',
  broken: 'هذا الرابط لا يسمّي أحدًا',
  brokenHint: 'اطلب رابطًا جديدًا، أو أدخل الاسم المستعار بنفسك.',
  own: 'هذا رابطك أنت',
  ownHint: 'أرسله إلى من تريد أن يصبح من جهات اتصالك.',
  elsewhere: 'هذه الدعوة لخادم آخر',
  elsewhereText: 'يجد الناس بعضهم داخل خادم واحد فقط. الرابط للخادم الأول، وأنت تستخدم الثاني.',
  openThere: 'افتحها في خادمها',
  failed: 'تعذّر البحث عن الدعوة',
  welcome: (alias) => `لديك دعوة من ${alias}. ستُسأل عنها بعد أن يكون لك حساب.`,
}
