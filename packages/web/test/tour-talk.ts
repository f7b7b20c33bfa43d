// What people say in the tour, in each language of the app.

/** A conversation with a friend, line by line, and one line of each other friend. */
interface Talk {
  readonly me: string
  readonly friend: string
  /** The name of the person who sends a friend request. */
  readonly stranger: string
  readonly others: readonly { readonly name: string; readonly says: string }[]
  /** The user's channel, and what is posted in it. */
  readonly channel: string
  readonly post: string
  readonly lines: readonly { readonly by: 'me' | 'friend'; readonly text: string }[]
}

export const TALK: Readonly<Record<'en' | 'ar', Talk>> = {
  en: {
    me: 'Amira Hassan',
    friend: 'Jonas Lind',
    stranger: 'Priya Nair',
    others: [
      { name: 'Ravi Menon', says: 'I left the keys with your neighbour.' },
      { name: 'Book club', says: 'Chapter nine until Thursday, everybody!' },
      { name: 'Sofia Rossi', says: 'Call me when you have a minute?' },
      { name: 'Mei Tanaka', says: 'The pictures of the garden are wonderful' },
    ],
    channel: 'Our garden',
    post: 'The roses are in bloom',
    lines: [
      { by: 'friend', text: 'Are you still coming on Saturday?' },
      { by: 'friend', text: 'We want to leave at nine, and the boat goes at ten.' },
      { by: 'me', text: 'Of course! I bring the tent 🏕️' },
      { by: 'me', text: 'Do we need anything else? I could bake bread tomorrow.' },
      { by: 'friend', text: 'Bread would be perfect. Mei brings the stove and the coffee.' },
      { by: 'friend', text: 'And a warm jacket, it gets cold on the island at night.' },
      { by: 'me', text: 'Noted. How long does the crossing take?' },
      { by: 'friend', text: 'About forty minutes. If the wind is good we see seals ⛵' },
      { by: 'me', text: 'I cannot wait!' },
      { by: 'friend', text: 'Great. See you at the station then.' },
    ],
  },
  ar: {
    me: 'أميرة حسن',
    friend: 'يونس خالد',
    stranger: 'ليلى عمر',
    others: [
      { name: 'سامي فؤاد', says: 'تركت المفاتيح عند جارتك.' },
      { name: 'نادي الكتاب', says: 'الفصل التاسع حتى يوم الخميس!' },
      { name: 'هدى منصور', says: 'اتصلي بي حين يتوفر لديك وقت.' },
      { name: 'مريم سالم', says: 'صور الحديقة جميلة جدًا' },
    ],
    channel: 'حديقتنا',
    post: 'تفتّحت الورود',
    lines: [
      { by: 'friend', text: 'هل ستأتين يوم السبت؟' },
      { by: 'friend', text: 'نريد أن ننطلق في التاسعة، والقارب يغادر في العاشرة.' },
      { by: 'me', text: 'طبعًا! سأحضر الخيمة 🏕️' },
      { by: 'me', text: 'هل نحتاج إلى شيء آخر؟ يمكنني أن أخبز غدًا.' },
      { by: 'friend', text: 'الخبز فكرة رائعة. مريم ستحضر الموقد والقهوة.' },
      { by: 'friend', text: 'ومعطفًا دافئًا، فالليل بارد في الجزيرة.' },
      { by: 'me', text: 'حسنًا. كم تستغرق الرحلة؟' },
      { by: 'friend', text: 'نحو أربعين دقيقة. وقد نرى الدلافين ⛵' },
      { by: 'me', text: 'لا أطيق الانتظار!' },
      { by: 'friend', text: 'رائع. أراك عند المحطة إذن.' },
    ],
  },
}
