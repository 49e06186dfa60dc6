"""Java classes: remembers those that PySpark looks up by name for each column function of a query.

PySpark looks up the class and its method in Java each time. For a short name, Java searches all 280 files of
Spark for each package that the name could be in.
"""

from typing import Any

from py4j.java_gateway import JavaMember

_CLASS_NAMES = ("functions", "org.apache.spark.sql.functions", "PythonSQLUtils", "PythonUtils")
_PACKAGE_NAMES = ("java", "org", "scala")


class RememberedClass:
    """A Java class that looks up each of its static methods once."""

    def __init__(self, java_class: Any) -> None:
        self._java_class = java_class

    def __getattr__(self, member_name: str) -> Any:
        member = getattr(self._java_class, member_name)
        if isinstance(member, JavaMember):
            setattr(self, member_name, member)
        return member


def remember_java_classes(jvm: Any) -> None:
    """Give `jvm`, PySpark's view of Java, the classes and packages that it otherwise looks up again."""
    for class_name in _CLASS_NAMES:
        setattr(jvm, class_name, RememberedClass(getattr(jvm, class_name)))
    for package_name in _PACKAGE_NAMES:
        setattr(jvm, package_name, getattr(jvm, package_name))
