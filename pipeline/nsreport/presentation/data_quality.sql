with origin as (
    select file, coalesce(any_value(server), any_value(event_server),
        regexp_extract(file, '([^/]+)/[^/]+$', 1), file) as source
    from (
        select file, server, null as event_server from {lines}
        union all
        select sourceFile, null, server from {events}
    ) group by file
), counted as (
    select l.date, o.source, l.kind, count(*) as lines,
        count(*) filter (l.ingestTime > l.date + interval 2 day and l.date > date '1970-01-01') as lateLines,
        max(l.ingestTime) as lastTs
    from {lines} l join origin o on l.file = o.file group by all
), bad as (
    select q.date, o.source, q.kind, count(*) as quarantinedLines
    from {quarantine} q join origin o on q.file = o.file group by all
), gap as (
    select server as source, validFrom, validTo from {knowledge}
    where not known and validTo is not null
), gap_day as (
    select source, cast(day as date) as date,
        greatest(validFrom, day) as since, least(validTo, day + interval 1 day) as until
    from gap, unnest(generate_series(date_trunc('day', validFrom), validTo, interval 1 day)) as days(day)
), gaps as (
    select date, source, count(*) as gaps, sum(epoch_ms(until) - epoch_ms(since)) / 1000.0 as unknownSeconds
    from gap_day where since < until group by all
)
select c.date, c.source, c.kind, c.lines, coalesce(b.quarantinedLines, 0) as quarantinedLines,
    round(coalesce(b.quarantinedLines, 0) / c.lines, 4) as quarantineShare, c.lateLines,
    coalesce(g.gaps, 0) as gaps, coalesce(g.unknownSeconds, 0.0) as unknownSeconds, c.lastTs
from counted c
left join bad b on (b.date, b.source, b.kind) = (c.date, c.source, c.kind)
left join gaps g on (g.date, g.source) = (c.date, c.source) and c.kind in ('journal', 'namesrv')
order by all
